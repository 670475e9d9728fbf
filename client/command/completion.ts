import type { Command } from './run.ts';
import { UsageError } from './usage.ts';

/**
 * A script that completes commands and their options in a shell. Throws UsageError for another shell than bash and zsh.
 */
export function completion(shell: string | undefined, commands: Readonly<Record<string, Command>>): string {
  const names = Object.keys(commands).join(' ');
  const cases = Object.entries(commands).map(([name, { options = {} }]) => {
    const words = [...Object.keys(options), 'json', 'profile', 'help'].map((option) => `--${option}`);
    return `    ${name}) words="${words.join(' ')}" ;;`;
  });
  const bash = [
    '_holdfast() {',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own.
    '  local words="" current="${COMP_WORDS[COMP_CWORD]}"',
    `  if [ "$COMP_CWORD" = 1 ]; then words="${names}"; else`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own.
    '  case "${COMP_WORDS[1]}" in',
    ...cases,
    '  esac; fi',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    'complete -F _holdfast holdfast',
  ].join('\n');
  if (shell === 'bash') return bash;
  if (shell === 'zsh') return `autoload -U +X bashcompinit && bashcompinit\n${bash}`;
  throw new UsageError('completion bash, or completion zsh');
}
