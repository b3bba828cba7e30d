// All commands, in the order of delegations --help, and delegations completion, which prints a shell script of them.

import { UsageError } from '../service/terminal.ts';
import { allowlist } from './allowlist.ts';
import { backup, exportCommand, importCommand } from './archive.ts';
import { audit, rewind } from './audit.ts';
import { changes } from './changes.ts';
import { check } from './check.ts';
import type { Command, Option } from './command.ts';
import { config } from './config.ts';
import { exclusive } from './exclusive.ts';
import { health, networks } from './health.ts';
import { holders } from './holders.ts';
import { keys } from './keys.ts';
import { delegates, history, list, vaults } from './lists.ts';
import { mirror } from './mirror.ts';
import { writeOut } from './output.ts';
import { api, follow, mcp, migrate, sandbox, serve } from './services.ts';
import { verify } from './verify.ts';
import { webhooks } from './webhooks.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

const completion: Command = {
  name: 'completion',
  summary: 'print a shell completion script',
  usage: 'bash|zsh|fish',
  about: 'Prints a script that completes commands, options and values.',
  operands: [1, 1],
  choices: SHELLS,
  examples: [
    'source <(delegations completion bash)',
    'source <(delegations completion zsh)',
    'delegations completion fish > ~/.config/fish/completions/delegations.fish',
  ],
  async run({ operands: [shell = ''] }) {
    const script = SCRIPTS.get(shell);
    if (script === undefined)
      throw new UsageError(`No completion for ${shell}. Supported shells: ${SHELLS.join(', ')}.`);
    await writeOut(script());
  },
};

export const COMMANDS: readonly Command[] = [
  sandbox,
  serve,
  follow,
  api,
  check,
  verify,
  vaults,
  delegates,
  list,
  history,
  changes,
  holders,
  exclusive,
  allowlist,
  networks,
  health,
  mcp,
  keys,
  webhooks,
  config,
  audit,
  rewind,
  migrate,
  backup,
  exportCommand,
  importCommand,
  mirror,
  completion,
];

const ZSH_SETUP = 'autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n';

const SCRIPTS = new Map<string, () => string>([
  ['bash', bashScript],
  // zsh can run bash completions.
  ['zsh', () => ZSH_SETUP + bashScript()],
  ['fish', fishScript],
]);

const optionsOf = ({ options = {} }: Command): [name: string, option: Option][] =>
  Object.entries({ ...options, help: { about: 'show help' } });

function bashScript(): string {
  const words = COMMANDS.map((command) => {
    const options = optionsOf(command).map(([name]) => `--${name}`);
    return `    ${command.name}) words="${options.join(' ')}" ;;`;
  });
  const choices = COMMANDS.flatMap((command) => {
    const after = (word: string, values?: readonly string[]) =>
      values === undefined ? [] : [`    "${command.name} ${word}") words="${values.join(' ')}" ;;`];
    return [
      ...after(command.name, command.choices),
      ...optionsOf(command).flatMap(([name, { choices }]) => after(`--${name}`, choices)),
    ];
  });
  return `_delegations() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" words=""
  case "$command" in
${words.join('\n')}
  esac
  case "$command $before" in
${choices.join('\n')}
    "import import"|"backup backup"|"verify verify"|"check --csv"|"check --prove"|"allowlist --owners"|"allowlist --tree") COMPREPLY=($(compgen -f -- "$word")); return ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] && words="${COMMANDS.map(({ name }) => name).join(' ')}"
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -F _delegations delegations ./delegations
`;
}

function fishScript(): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "\\'")}'`;
  const lines = COMMANDS.flatMap((command) => [
    `complete -c delegations -f -n __fish_use_subcommand -a ${command.name} -d ${quoted(command.summary)}`,
    ...(command.choices === undefined
      ? []
      : [
          `complete -c delegations -f -n '__fish_seen_subcommand_from ${command.name}' -a ${quoted(command.choices.join(' '))}`,
        ]),
    ...optionsOf(command).map(([name, option]) => {
      const choices = option.choices === undefined ? '' : ` -xa ${quoted(option.choices.join(' '))}`;
      const value = option.value !== undefined && choices === '' ? ' -r' : choices;
      return `complete -c delegations -n '__fish_seen_subcommand_from ${command.name}' -l ${name}${value} -d ${quoted(option.about)}`;
    }),
  ]);
  return `${lines.join('\n')}\n`;
}
