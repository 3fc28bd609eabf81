#compdef plantstore
# zsh completion of plantstore. To keep it: mkdir -p ~/.zfunc && plantstore completion zsh > ~/.zfunc/_plantstore
# and in ~/.zshrc, before compinit: fpath+=~/.zfunc
_plantstore() {
  local line
  local -a items
  for line in "${(@f)$(plantstore completion for -- "${(@)words[2,CURRENT]}" 2> /dev/null)}"; do
    case $line in
      :files) _files ;;
      :folders) _files -/ ;;
      ?*) items+=("${${line//:/\\:}/$'\t'/:}") ;;
    esac
  done
  (( $#items )) && _describe plantstore items
}
if [[ $funcstack[1] == _plantstore ]]; then _plantstore "$@"; else compdef _plantstore plantstore; fi
