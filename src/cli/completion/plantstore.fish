# fish completion of plantstore. To keep it:
#   mkdir -p ~/.config/fish/completions
#   plantstore completion fish > ~/.config/fish/completions/plantstore.fish
function __plantstore_complete
  set -l words (commandline -opc)
  for line in (plantstore completion for -- $words[2..] (commandline -ct) 2> /dev/null)
    switch $line
      case :files
        __fish_complete_path (commandline -ct)
      case :folders
        __fish_complete_directories (commandline -ct)
      case '*'
        echo $line
    end
  end
end
complete -c plantstore -f -a '(__plantstore_complete)'
