# An ordinary user for .ci/run, with a clone of HEAD in a folder with a blank in its name. Root sources this file.
user=plantstore-ci-$$
home=/home/$user
clone="$home/my plants/plantstore"

# as_user COMMAND…: runs a command in the clone, or in the home folder before there is one, with the strictest umask.
as_user() {
  setpriv --reuid="$user" --regid="$user" --init-groups env -i HOME="$home" USER="$user" PATH="$PATH" \
    npm_config_loglevel=error sh -c 'umask 077; cd "$0" 2> /dev/null || cd; exec "$@"' "$clone" "$@"
}

# The user clones from a bundle: a clone of this folder could share its objects by hard links.
make_user() {
  useradd --create-home --home-dir "$home" --shell /bin/sh "$user" && touch "$logs/user" &&
    git bundle create --quiet "$home/plantstore.bundle" HEAD && chmod 644 "$home/plantstore.bundle" &&
    as_user git clone --quiet plantstore.bundle "$clone"
}

# Entries of the folders that any user may write. npx leaves Node.js's compile cache.
# An earlier user with the same number may have left some: they count for nothing.
files_of_user() {
  find /tmp /var/tmp /dev/shm -xdev -mindepth 1 -maxdepth 1 -user "$user" -cnewer "$logs/user" "$@"
}

# Prints what the user's tests left behind: processes, files in shared folders, and files in the clone.
leaves_nothing() {
  local left
  # A process that has ended stays as a zombie where the container's first process does not reap it.
  left=$(ps -u "$user" -o stat=,pid=,args= | grep -v '^Z'; files_of_user ! -name node-compile-cache; as_user git status --porcelain)
  [[ -z $left ]] || { printf 'error: left behind: %s\n' "$left"; return 1; }
}

# Removes only a user that make_user has made, and nothing but entries of shared folders that are theirs.
remove_user() {
  [[ -e $logs/user ]] || return 0
  ps -u "$user" -o pid= | xargs --no-run-if-empty kill -KILL
  files_of_user -exec rm -rf -- {} +
  rm "$logs/user"
  sleep 1
  # By force: zombies count as its processes.
  userdel --force --remove "$user" 2> /dev/null
}
