import { resolve } from 'node:path';
import { ProjectFileError, readProjectFiles } from '../../adapters/files/project-yaml.ts';
import type { Difference } from '../../domain/configuration/differences.ts';
import type { WantedProject } from '../../domain/configuration/document.ts';
import { Refusal, refuse } from '../../domain/kernel/problem.ts';
import type { CommandContext } from '../command.ts';
import type { OpenedInstance } from '../with-instance.ts';

/** A project of a directory. */
export interface WantedFile {
  name: string;
  wanted: WantedProject;
  /** Values from references, which are not printed. */
  references: ReadonlySet<string>;
}

/** Reads and validates every document before anything is compared or written. Throws {@link ProjectFileError}. */
export function wantedIn(
  directory: string,
  { env }: Pick<CommandContext, 'env'>,
  { services }: { services: Pick<OpenedInstance['services'], 'configurations'> },
): WantedFile[] {
  const files = readProjectFiles(resolve(directory), env).map(({ name, content, references }) => ({
    name,
    references,
    wanted: naming(name, () => {
      const wanted = services.configurations.read(content);
      mustBeReferences(wanted, references);
      return wanted;
    }),
  }));
  for (const { name, wanted } of files) {
    const other = files.find((one) => one.name !== name && one.wanted.slug === wanted.slug);
    if (other) throw new ProjectFileError(`${name} and ${other.name} both describe the project ${wanted.slug}`);
  }
  return files;
}

/** Secrets are never text in a file. Refuses `invalid`. */
function mustBeReferences({ parts, secrets }: WantedProject, references: ReadonlySet<string>): void {
  const known = new Set([...references].map((text) => text.trim()));
  for (const { kind, keys, values } of parts) {
    const secret = secrets.get(String(values['secret']));
    if (secret === undefined || known.has(secret)) continue;
    const field = [kind, ...keys.map(withoutPath), 'secret'].join('.');
    refuse({ code: 'invalid', field, reason: 'must be a reference: !env or !file' });
  }
}

/** Names the file in a refusal. */
function naming<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw named(name, error);
  }
}

export function named(name: string, error: unknown): unknown {
  if (!(error instanceof Refusal)) return error;
  const { field, reason, code, what } = error.problem as Record<string, string | undefined>;
  const words = [field, reason ?? code, what].filter((word) => word !== undefined);
  return new ProjectFileError(`${name}: ${words.join(' ')}`);
}

const marks = { create: '+', update: '~', remove: '-' } as const;

/** An address without path and query, which may contain a token of the receiver. */
function withoutPath(text: string): string {
  if (!/^https?:/i.test(text) || !URL.canParse(text)) return text;
  const { origin, href } = new URL(text);
  return href === `${origin}/` ? origin : `${origin}/…`;
}

/** Lines that show differences; values from references, secrets and the paths of receivers are left out. */
export function linesOf(differences: readonly Difference[], references: ReadonlySet<string>): string[] {
  return differences.flatMap(({ action, kind, keys, before, after }) => {
    const isReceiver = kind === 'webhooks' || kind === 'logStreams';
    const named = keys.map((one) =>
      isReferred(one, references) ? '(by reference)' : isReceiver ? withoutPath(one) : one,
    );
    const heading = `  ${marks[action]} ${[kind, ...named].join(' ')}`;
    if (action === 'remove') return [heading];
    // The address of a receiver is in the heading.
    const listed = Object.keys(after).filter((name) => !isReceiver || after[name] !== keys[0]);
    const members = listed.map((name) => {
      if (name === 'secret') return '      secret: (by reference)';
      const was = action === 'update' ? `${shown(before[name], references)} → ` : '';
      return `      ${name}: ${isReferred(after[name], references) ? '(by reference)' : was + shown(after[name], references)}`;
    });
    return [heading, ...members];
  });
}

function isReferred(value: unknown, references: ReadonlySet<string>): boolean {
  const text = JSON.stringify(value) ?? '';
  return [...references].some((one) => one !== '' && text.includes(JSON.stringify(one).slice(1, -1)));
}

function shown(value: unknown, references: ReadonlySet<string>): string {
  if (isReferred(value, references)) return '(by reference)';
  const text = JSON.stringify(value) ?? 'none';
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
