/** Generates the part of docs/command-line.md that follows from the command line. */
import type { Command, Option } from 'commander';
import { featureCommands } from '../src/app/feature-commands.ts';
import { createProgram } from '../src/cli/program.ts';
import { code, table } from './markdown.ts';

/** A command that does something, under its full name. */
export interface DescribedCommand {
  /** `payment show` */
  readonly name: string;
  readonly command: Command;
}

const unused = () => Promise.reject(new Error('the documentation runs no command'));

/** All commands of the program, in its order. */
export function listCommands(): readonly DescribedCommand[] {
  const services = {
    features: featureCommands,
    start: unused,
    ask: null,
    init: unused,
    runOperation: unused,
    backUp: unused,
    doctor: unused,
    rehearse: unused,
    deployContract: unused,
    createRelayerKey: unused,
    showRelayers: unused,
    migrate: unused,
    moveStore: unused,
    grade: unused,
    listen: unused,
  };
  return leavesOf(createProgram(services, '0.0.0'), '');
}

function leavesOf(parent: Command, prefix: string): DescribedCommand[] {
  return parent.commands.flatMap((command) => {
    const name = `${prefix}${command.name()}`;
    return command.commands.length > 0 ? leavesOf(command, `${name} `) : [{ name, command }];
  });
}

/** One section per command: purpose, usage, options. `--json` is described once for all. */
export function commandSections(): string {
  return listCommands().map(sectionOf).join('\n\n');
}

function sectionOf({ name, command }: DescribedCommand): string {
  const options = command.options.filter(({ long }) => long !== '--json');
  const parameters = [
    ...command.registeredArguments.map((each) => `<${each.name()}>`),
    ...options.map((option) => (option.mandatory ? option.flags : `[${option.flags}]`)),
  ];
  const sentence = command.description();
  const lines = [
    `### ${code(name)}`,
    '',
    `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`,
    '',
    '```',
    ['card-checkout', name, ...parameters].join(' '),
    '```',
  ];
  if (options.length > 0) lines.push('', table(['option', 'meaning'], options.map(rowOf)));
  return lines.join('\n');
}

function rowOf(option: Option): string[] {
  const fallback = option.defaultValue === undefined ? '' : ` (${String(option.defaultValue)})`;
  const need = option.mandatory ? ' (required)' : '';
  return [code(option.flags), `${option.description}${fallback}${need}`];
}
