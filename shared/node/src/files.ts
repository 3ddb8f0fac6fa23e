/**
 * Reads a small file. Throws if it cannot be read, and in runtimes without a file system. The module is loaded at the call,
 * so that bundlers for such runtimes do not look for it.
 */
export function readTextFile(path: string): string {
  const { process } = globalThis as { process?: Partial<NodeJS.Process> };
  const files = process?.getBuiltinModule?.('node:fs');
  if (!files) throw new Error('This runtime cannot read files (Node can since 20.16).');
  return files.readFileSync(path, 'utf8');
}
