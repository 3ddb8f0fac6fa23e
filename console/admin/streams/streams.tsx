import { lazy } from 'react';
import { useQuery } from '../api.ts';
import { LogStreams } from '../generated/operations.ts';
import { t } from '../language/language.ts';
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
import { eventsOf } from '../webhooks/webhook-state.tsx';
import { kindNames, type Stream, StreamState } from './stream-state.tsx';

const StreamForm = lazy(async () => ({ default: (await import('./stream-form.tsx')).StreamForm }));
const maxStreams = 10;

const columns: readonly Column<Stream>[] = [
  { header: t('Receiver'), isName: true, width: '28%', cell: ({ description, receiver }) => description || receiver },
  { header: t('Status'), cell: (stream) => <StreamState stream={stream} /> },
  { header: t('Kind'), cell: ({ kind }) => kindNames[kind] },
  { header: t('Events'), width: '22%', cell: eventsOf },
  { header: t('Waiting'), align: 'end', cell: ({ lag }) => count.format(lag.waiting) },
  { header: t('Last delivered'), cell: ({ lastDeliveredAt }) => <Time at={lastDeliveredAt} fallback={t('Never')} /> },
];

interface StreamsProps {
  /** Null: the instance. */
  project: { id: string; name: string } | null;
  mayChange: boolean;
  pathOf(id: string): string;
}

/** The log streams of a project, or of the instance. */
export function Streams({ project, mayChange, pathOf }: StreamsProps) {
  const projectId = project?.id ?? null;
  const { data, failure, reload } = useQuery(LogStreams, { projectId }, { everySeconds: 10 });
  const [dialog, { open }] = useDialog();
  if (failure && !data) return <LoadError failure={failure} subject={t('the list of log streams')} retry={reload} />;
  const all = data?.logStreams;
  const form = (close: () => void) => <StreamForm projectId={projectId} onClose={close} />;
  const create = mayChange && (
    <AddButton disabled={(all?.length ?? 0) >= maxStreams} onClick={() => open(t('Create log stream'), form, 'lg')}>
      {t('Create log stream')}
    </AddButton>
  );
  return (
    <Page
      title={t('Log streams')}
      lead={
        project
          ? t('Send audit events of this project to a log store or SIEM.')
          : t('Send audit events of this instance and all projects to a log store or SIEM.')
      }
      actions={all?.length ? create : undefined}
      {...(project ? {} : { back: { to: '/audit', label: t('Audit') } })}
    >
      {project && !mayChange && <ViewerNotice project={project} />}
      <TableSection
        label={t('Log streams')}
        columns={columns}
        rows={all}
        linkOf={({ id }) => pathOf(id)}
        skeletonRows={3}
        empty={
          <Empty icon="stream" title={t('No log streams yet')} action={create}>
            {t('A log stream receives all events in order, in batches.')}
          </Empty>
        }
      />
      {dialog}
    </Page>
  );
}
