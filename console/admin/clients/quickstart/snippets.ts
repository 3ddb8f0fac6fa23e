import type { Snippet } from '../../ui/code/snippets.tsx';
import { needsProjectIssuer } from '../issuer-advice.ts';
import type { ClientKind } from '../kind.ts';
import { browserOnly } from './browser-only.ts';
import { curl } from './curl.ts';
import { openidClient } from './openid-client.ts';
import { otherLanguages } from './other-languages.ts';
import { otherLibraries } from './other-libraries.ts';
import { ownForm, pageOfHtml, pageOfReact } from './pages.ts';
import { backEnds } from './servers.ts';
import { keyAlgorithmOf, proofOf, type SnippetValues } from './values.ts';

/**
 * Runnable code; this application's values are between ‹ and ›. The first snippets for a single-page application need
 * no back end. Pages in front of a back end use the base issuer.
 */
export function snippetsFor(kind: ClientKind, values: SnippetValues): Snippet[] {
  const openid = openidClient(values);
  // A shell signs assertions with Ed25519 only.
  const rest = [...(isByShell(values) ? [curl(values)] : []), otherLibraries(values)];
  if (kind === 'native') return [openid, ...rest];
  const alone = kind === 'single-page' ? browserOnly(values) : [];
  if (needsProjectIssuer(values.client))
    return [...alone, ...backEnds(values), ...otherLanguages(values), openid, ...rest];
  const pages = [pageOfHtml(values), pageOfReact(values), ownForm(values)];
  const [express, ...others] = backEnds(values);
  return kind === 'web-server'
    ? [...(express ? [express] : []), ...others, ...otherLanguages(values), openid, ...pages, ...rest]
    : [...alone, ...pages, ...(express ? [express] : []), openid, ...rest];
}

function isByShell(values: SnippetValues): boolean {
  return proofOf(values) !== 'key' || keyAlgorithmOf(values) === 'Ed25519';
}
