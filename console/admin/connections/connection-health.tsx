import { t } from '../language/language.ts';
import { atLeast, count } from '../ui/counted.ts';
import { Section } from '../ui/layout/page.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { Facts } from '../ui/lists/facts.tsx';
import { Time } from '../ui/time.tsx';
import type { Connection } from './connection-part.ts';
import { adviceFor } from './failures.ts';
import { byCount } from './health.ts';
import { SamlWarnings } from './settings/saml-metadata.tsx';

type Failure = Connection['failures'][number];

const maxCounted = 1000;

const columns: readonly Column<Failure>[] = [
  { header: t('Reason'), isName: true, cell: ({ reason }) => <code>{reason}</code> },
  { header: t('Failures'), align: 'end', cell: (failure) => count.format(failure.count) },
  { header: t('What to check'), width: '60%', cell: ({ reason }) => adviceFor(reason) },
];

/** The last sign-ins, and why others failed. */
export function ConnectionHealth({ connection }: { connection: Connection }) {
  const { lastSuccessAt, lastFailureAt, identities, failures } = connection;
  return (
    <>
      {connection.saml && <SamlWarnings saml={connection.saml} />}
      <Section title={t('Health')} lead={t('Failures are counted since the last change of the settings.')}>
        <Facts
          facts={[
            [t('Last sign-in or test'), <Time key="success" at={lastSuccessAt} fallback={t('Never')} />],
            [t('Last failure'), <Time key="failure" at={lastFailureAt} fallback={t('None')} />],
            [t('Connected users'), atLeast(identities, identities >= maxCounted)],
          ]}
        />
        {failures.length > 0 && (
          <DataTable
            dense
            label={t('Failures')}
            columns={columns}
            rows={byCount(failures)}
            keyOf={({ reason }) => reason}
          />
        )}
      </Section>
    </>
  );
}
