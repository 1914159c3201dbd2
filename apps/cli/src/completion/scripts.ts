/**
 * The scripts that make shells ask `hangar __complete`. They are given the words as they are typed, and read lines of a word, a tab and
 * what it means; `:file` and `:folder` ask the shell for its own.
 */

export type Shell = 'bash' | 'zsh' | 'fish';
export const shells: readonly Shell[] = ['bash', 'zsh', 'fish'];

const bash = `# Completion of hangar for bash: source <(hangar completion bash)
_hangar() {
  local word meaning typed="\${COMP_WORDS[COMP_CWORD]}"
  [[ $typed == "=" ]] && typed=""
  COMPREPLY=()
  while IFS=$'\\t' read -r word meaning; do
    case "$word" in
      :file|:folder)
        compopt -o filenames 2>/dev/null
        local kind=-f
        [[ $word == :folder ]] && kind=-d
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$kind" -- "$typed")
        ;;
      ?*) COMPREPLY+=("$word") ;;
    esac
  done < <("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _hangar hangar
`;

const zsh = `#compdef hangar
# Completion of hangar for zsh: source <(hangar completion zsh)
_hangar() {
  local line
  local -a described
  while IFS= read -r line; do
    case "$line" in
      :file) _files; return ;;
      :folder) _files -/; return ;;
      *$'\\t'*) described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
      ?*) described+=("\${line//:/\\\\:}") ;;
    esac
  done < <("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe hangar described
}
compdef _hangar hangar
`;

const fish = `# Completion of hangar for fish: hangar completion fish | source
function __hangar_complete
  set -l words (commandline -opc)
  set -l program $words[1]
  set -e words[1]
  set -l typed (commandline -ct)
  for line in ($program __complete -- $words "$typed" 2>/dev/null)
    switch $line
      case ':file'
        __fish_complete_path "$typed"
      case ':folder'
        __fish_complete_directories "$typed"
      case '*'
        echo $line
    end
  end
end
complete -c hangar -f -a '(__hangar_complete)'
`;

export const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
