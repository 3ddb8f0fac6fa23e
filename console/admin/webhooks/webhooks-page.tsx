import { lazy, useState } from 'react';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { Webhooks } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { AddButton } from '../ui/buttons.tsx';
import { count } from '../ui/counted.ts';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { Page } from '../ui/layout/page.tsx';
import type { Column } from '../ui/lists/data-table.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { Time } from '../ui/time.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { eventsOf, type Webhook, WebhookState } from './webhook-state.tsx';

const WebhookForm = lazy(async () => ({ default: (await import('./webhook-form.tsx')).WebhookForm }));

const maxWebhooks = 20;

const columns: readonly Column<Webhook>[] = [
  { header: t('Receiver'), isName: true, width: '28%', cell: ({ description, host }) => description || host },
  { header: t('Status'), cell: (webhook) => <WebhookState webhook={webhook} /> },
  { header: t('Events'), width: '24%', cell: eventsOf },
  { header: t('Pending'), align: 'end', cell: ({ pending }) => count.format(pending) },
  { header: t('Failed'), align: 'end', cell: ({ failed }) => count.format(failed) },
  { header: t('Last delivered'), cell: ({ lastDeliveredAt }) => <Time at={lastDeliveredAt} fallback={t('Never')} /> },
];

/** The webhooks of a project. */
export function Component() {
  const project = useProject();
  const path = useProjectPath();
  const { mayChange } = useAccess(project.id);
  const { data, failure, reload } = useQuery(Webhooks, { projectId: project.id }, { everySeconds: 10 });
  const [dialog, { open }] = useDialog();
  const [secret, setSecret] = useState<string>();
  if (failure && !data) return <LoadError failure={failure} subject={t('the list of webhooks')} retry={reload} />;
  const all = data?.webhooks;
  const form = (close: () => void) => <WebhookForm onClose={close} onSecret={setSecret} />;
  const create = mayChange && (
    <AddButton disabled={(all?.length ?? 0) >= maxWebhooks} onClick={() => open(t('Create webhook'), form, 'lg')}>
      {t('Create webhook')}
    </AddButton>
  );
  return (
    <Page
      title={t('Webhooks')}
      lead={t('Send events of this project to your servers, signed as in Standard Webhooks.')}
      actions={all?.length ? create : undefined}
    >
      {!mayChange && <ViewerNotice project={project} />}
      <TableSection
        label={t('Webhooks')}
        columns={columns}
        rows={all}
        linkOf={({ id }) => path(`webhooks/${id}`)}
        skeletonRows={3}
        empty={
          <Empty icon="code" title={t('No webhooks yet')} action={create}>
            {t('A webhook receives each event within seconds, at least once.')}
          </Empty>
        }
      />
      {dialog}
      <SecretDialog secret={secret} onDone={() => setSecret(undefined)} />
    </Page>
  );
}
