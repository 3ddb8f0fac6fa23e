/**
 * Replacements for `curl`, `openssl` and `date` as used by the curl snippet, for machines with only Node and a shell.
 * Run as a program: tool name, then its arguments.
 */
import { createHash, createPrivateKey, randomBytes, sign } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A PATH with the system's tools first, and these replacements for missing ones. */
export function pathWithTools(folder: string): string {
  const tools = join(folder, 'tools');
  mkdirSync(tools, { recursive: true });
  for (const tool of ['curl', 'openssl', 'date']) {
    const script = `#!/bin/sh\nexec '${process.execPath}' '${fileURLToPath(import.meta.url)}' ${tool} "$@"\n`;
    writeFileSync(join(tools, tool), script, { mode: 0o755 });
  }
  return `${process.env['PATH']}${delimiter}${tools}`;
}

async function curl(args: string[]): Promise<string> {
  const form = new URLSearchParams();
  let url = '';
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (arg !== '-d' && arg !== '--data-urlencode') {
      url = arg;
      continue;
    }
    at += 1;
    const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(args[at] ?? '') ?? [];
    form.append(name, value);
  }
  return (await fetch(url, { method: 'POST', body: form })).text();
}

function openssl([command, ...args]: string[]): string | Buffer {
  const after = (option: string) => args[args.indexOf(option) + 1] ?? '';
  switch (command) {
    case 'rand':
      return randomBytes(Number(args.at(-1))).toString(args[0] === '-hex' ? 'hex' : 'base64');
    case 'dgst':
      return createHash('sha256').update(readFileSync(0)).digest();
    case 'base64':
      return readFileSync(0).toString('base64');
    case 'pkeyutl':
      return sign(null, readFileSync(after('-in')), createPrivateKey(readFileSync(after('-inkey'))));
    default:
      throw new Error(`openssl ${command} is not supported`);
  }
}

const [, program, tool = '', ...args] = process.argv;
if (program === fileURLToPath(import.meta.url)) {
  const tools: Record<string, () => string | Buffer | Promise<string>> = {
    curl: () => curl(args),
    openssl: () => openssl(args),
    date: () => String(Math.floor(Date.now() / 1000)),
  };
  process.stdout.write((await tools[tool]?.()) ?? '');
}
