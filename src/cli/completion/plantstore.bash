# bash completion of plantstore. To keep it:
#   mkdir -p ~/.local/share/bash-completion/completions
#   plantstore completion bash > ~/.local/share/bash-completion/completions/plantstore
# (with the package bash-completion), or in ~/.bashrc: source <(plantstore completion bash)
_plantstore() {
  local line kind=
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) kind=-f ;;
      :folders) kind=-d ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <(plantstore completion for -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  [[ -n $kind ]] && mapfile -t COMPREPLY < <(compgen $kind -- "${COMP_WORDS[COMP_CWORD]#=}")
}
complete -o filenames -F _plantstore plantstore
