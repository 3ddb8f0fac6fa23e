import { domainToASCII } from 'node:url';
import { hostSyntax } from './site.ts';

/** The TXT records of a name; `missing`: it has none; `unavailable`: no response. Never throws. */
export type ReadTxt = (name: string) => Promise<readonly string[] | 'missing' | 'unavailable'>;

/** Label that precedes the domain in the name of the TXT record. */
const challengeLabel = '_latchkey-challenge';
/** 253 (RFC 1035 section 2.3.4), less the label of the record. */
const maxLength = 253 - challengeLabel.length - 1;
/** Reserved (RFC 2606 section 3), and always answered: without its answer, the fault is on our side. */
const controlName = 'example.com';

/** The name of the TXT record that proves a domain. */
export function challengeName(host: string): string {
  return `${challengeLabel}.${host}`;
}

/** A host name as typed, in ASCII and lower case, without the final dot; null: not a host name. */
export function typedHost(typed: string): string | null {
  const text = typeof typed === 'string' ? typed.trim().replace(/\.$/, '') : '';
  // Characters that URL parsers do not read as part of the host.
  const host = /[\s/\\:@?#%[\]*_]/.test(text) ? '' : domainToASCII(text);
  return hostSyntax.test(host) && host.length <= maxLength ? host : null;
}

/** The records that may prove a domain. `unavailable`: its name servers do not answer; `outage`: none does. */
export async function readProofs(
  readTxt: ReadTxt,
  host: string,
): Promise<readonly string[] | 'unavailable' | 'outage'> {
  const records = await readTxt(challengeName(host));
  if (records === 'missing') return [];
  if (records !== 'unavailable') return records;
  return (await readTxt(controlName)) === 'unavailable' ? 'outage' : 'unavailable';
}
