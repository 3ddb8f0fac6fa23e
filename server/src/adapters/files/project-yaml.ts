import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { parseDocument, type ScalarTag } from 'yaml';
import { OperatorError } from '../../domain/kernel/problem.ts';

/** A file cannot be read. The message names file and line. */
export class ProjectFileError extends OperatorError {
  override readonly name = 'ProjectFileError';
}

/** A document as read, and the values that came from references. */
export interface ProjectFile {
  name: string;
  content: unknown;
  references: Set<string>;
}

const maxBytes = 1024 * 1024;
/** Only these variables can be referred to, so that a document cannot publish the settings of the server. */
const variable = /^CONFIG_[A-Z0-9_]+$/;

/** Every `.yaml` file of a directory, by name. Throws {@link ProjectFileError}. */
export function readProjectFiles(directory: string, env: Readonly<Record<string, string | undefined>>): ProjectFile[] {
  const names = listed(directory).filter((name) => /\.ya?ml$/.test(name));
  if (names.length === 0) throw new ProjectFileError(`${directory} has no .yaml file`);
  return names.sort().map((name) => readProjectFile(directory, name, env));
}

function readProjectFile(
  directory: string,
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): ProjectFile {
  const references = new Set<string>();
  const remember = (text: string) => {
    references.add(text);
    return text;
  };
  const customTags: ScalarTag[] = [
    { tag: '!env', resolve: (reference) => remember(valueOf(reference, env, name)) },
    { tag: '!file', resolve: (reference) => remember(bytesOf(directory, reference, name).toString('utf8')) },
    { tag: '!image', resolve: (reference) => new Uint8Array(bytesOf(directory, reference, name)) },
  ];
  const document = parseDocument(bytesOf(directory, name, name).toString('utf8'), {
    // In the export of the console, logos are binary.
    customTags: [...customTags, 'binary'],
    prettyErrors: true,
  });
  const [fault] = [...document.errors, ...document.warnings];
  if (fault) throw new ProjectFileError(`${name}: ${fault.message.split('\n')[0]}`);
  return { name, content: contentOf(document, name), references };
}

/** Throws {@link ProjectFileError} if aliases repeat too much. */
function contentOf(document: ReturnType<typeof parseDocument>, name: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new ProjectFileError(`${name}: ${(error as Error).message}`);
  }
}

function valueOf(name: string, env: Readonly<Record<string, string | undefined>>, file: string): string {
  if (!variable.test(name)) throw new ProjectFileError(`${file}: !env ${name}: the name must begin with CONFIG_`);
  const value = env[name];
  if (value === undefined) throw new ProjectFileError(`${file}: !env ${name}: the variable is not set`);
  return value;
}

/** A file within the directory; symbolic links out of it are refused. */
function bytesOf(directory: string, path: string, file: string): Buffer {
  const fault = (reason: string) => new ProjectFileError(`${file === path ? file : `${file}: ${path}`} ${reason}`);
  try {
    const root = realpathSync(resolve(directory));
    const real = realpathSync(join(root, path));
    if (!real.startsWith(root + sep)) throw fault('is outside of the directory');
    const bytes = readFileSync(real);
    if (bytes.length > maxBytes) throw fault('is larger than 1 MB');
    return bytes;
  } catch (error) {
    if (error instanceof ProjectFileError) throw error;
    throw fault(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}

function listed(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ProjectFileError(`${basename(directory)} cannot be read (${code ?? 'unknown'})`);
  }
}
