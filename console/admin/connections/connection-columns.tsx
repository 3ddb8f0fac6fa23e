import type { ConnectionRowFragment } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { count } from '../ui/counted.ts';
import type { Column } from '../ui/lists/data-table.tsx';
import { Time } from '../ui/time.tsx';
import { ConnectionState } from './connection-state.tsx';
import { byCount } from './health.ts';
import { providerOf } from './providers.ts';

export const connectionColumns: readonly Column<ConnectionRowFragment>[] = [
  { header: t('Name'), isName: true, width: '28%', cell: ({ name }) => name },
  { header: t('Provider'), cell: ({ preset }) => providerOf(preset).name },
  { header: t('Kind'), cell: ({ kind }) => kindNames[kind] },
  { header: t('Status'), cell: (connection) => <ConnectionState connection={connection} /> },
  { header: t('Last sign-in'), cell: ({ lastSuccessAt }) => <Time at={lastSuccessAt} fallback={t('Never')} /> },
  { header: t('Failures'), cell: ({ failures }) => failuresOf(failures) },
];

const kindNames = { OIDC: 'OpenID Connect', SAML: 'SAML 2.0' } as const;

/** The total, and the most frequent reason. */
function failuresOf(failures: ConnectionRowFragment['failures']) {
  const [most] = byCount(failures);
  const total = failures.reduce((sum, failure) => sum + failure.count, 0);
  return most ? `${count.format(total)} (${most.reason})` : '–';
}
