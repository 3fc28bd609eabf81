# An ordinary user for .ci/run, with a fresh clone in a folder with a blank in its name. To be sourced by root.
user=plantstore-ci-$$
clone="/home/$user/my plants/plantstore"

# as_user COMMAND…: runs a command in the clone with the variables and the umask of a login, as strict as it can be.
as_user() {
  setpriv --reuid="$user" --regid="$user" --init-groups env -i HOME="/home/$user" USER="$user" PATH="$PATH" \
    npm_config_loglevel=error sh -c 'umask 077 && cd "$0" && exec "$@"' "$clone" "$@"
}

make_user() {
  useradd --create-home --home-dir "/home/$user" --shell /bin/sh "$user" || return
  # A clone by hard links would hand this repository's own objects to the user.
  (umask 077 && mkdir "${clone%/*}" && git clone --quiet --no-hardlinks . "$clone") && chown -R "$user:" "${clone%/*}"
}

# Everything of the user in the folders that anybody may write. npx leaves Node.js's compile cache.
files_of_user() {
  find /tmp /var/tmp /dev/shm /run -xdev \( -path "/home/$user" -o -path '*/node-compile-cache' \) -prune -o -user "$user" -prune -print 2> /dev/null |
    sort -u
}

# Fails, and says what is left, unless all processes have ended, and all files but those of the clone's own are removed.
leaves_nothing() {
  local left
  left=$(ps -u "$user" -o pid=,args=; files_of_user; as_user git status --porcelain)
  [[ -z $left ]] || { printf 'error: left behind: %s\n' "$left"; return 1; }
}

remove_user() {
  id "$user" > /dev/null 2>&1 || return 0
  pkill -KILL -u "$user"
  find /tmp /var/tmp /dev/shm -xdev -mindepth 1 -maxdepth 1 -user "$user" -exec rm -rf -- {} +
  until userdel --remove "$user" 2> /dev/null; do sleep 1; done
}
