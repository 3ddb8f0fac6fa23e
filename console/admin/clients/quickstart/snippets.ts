import type { Snippet } from '../../ui/code/snippets.tsx';
import { needsProjectIssuer } from '../issuer-advice.ts';
import type { ClientKind } from '../kind.ts';
import { curl } from './curl.ts';
import { openidClient } from './openid-client.ts';
import { otherLanguages } from './other-languages.ts';
import { otherLibraries } from './other-libraries.ts';
import { ownForm, pageOfHtml, pageOfReact } from './pages.ts';
import { backEnds } from './servers.ts';
import { keyAlgorithmOf, proofOf, type SnippetValues } from './values.ts';

/** Runnable code; this application's values are between ‹ and ›. Our own pages use the base issuer. */
export function snippetsFor(kind: ClientKind, values: SnippetValues): Snippet[] {
  const openid = openidClient(values);
  // A shell signs assertions with Ed25519 only.
  const rest = [...(isByShell(values) ? [curl(values)] : []), otherLibraries(values)];
  if (kind === 'native') return [openid, ...rest];
  if (needsProjectIssuer(values.client)) return [...backEnds(values), ...otherLanguages(values), openid, ...rest];
  const pages = [pageOfHtml(values), pageOfReact(values), ownForm(values)];
  const [express, ...others] = backEnds(values);
  return kind === 'web-server'
    ? [...(express ? [express] : []), ...others, ...otherLanguages(values), openid, ...pages, ...rest]
    : [...pages, ...(express ? [express] : []), openid, ...rest];
}

function isByShell(values: SnippetValues): boolean {
  return proofOf(values) !== 'key' || keyAlgorithmOf(values) === 'Ed25519';
}
