import { Alert, Button, Group } from '@mantine/core';
import { lazy } from 'react';
import { useNavigate } from 'react-router';
import { useQuery } from '../api.ts';
import {
  AuditEvents,
  DeleteLogStream,
  LogStreamById,
  LogStreams,
  LogStreamTarget,
  TestLogStream,
  UpdateLogStream,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { AddressCode } from '../ui/breakable.tsx';
import { SecondaryButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { FormError, LoadError } from '../ui/feedback/errors.tsx';
import { PageSkeleton } from '../ui/feedback/skeleton.tsx';
import { useAction } from '../ui/feedback/use-action.ts';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { Facts } from '../ui/lists/facts.tsx';
import { Time } from '../ui/time.tsx';
import { eventsOf } from '../webhooks/webhook-state.tsx';
import { faultOf, kindNames, type Stream, StreamState, targetNames } from './stream-state.tsx';

const StreamForm = lazy(async () => ({ default: (await import('./stream-form.tsx')).StreamForm }));
const stale = [LogStreams, LogStreamById, AuditEvents];

interface StreamDetailsProps {
  id: string;
  /** Null: the instance. */
  project: { id: string; name: string } | null;
  mayChange: boolean;
  listPath: string;
}

/** One log stream: state and settings. */
export function StreamDetails({ id, project, mayChange, listPath }: StreamDetailsProps) {
  const { data, failure, reload } = useQuery(LogStreamById, { id }, { everySeconds: 5 });
  const stream = data?.logStream.id === id ? data.logStream : undefined;
  if (!stream)
    return failure ? <LoadError failure={failure} subject={t('log stream')} retry={reload} /> : <PageSkeleton />;
  return (
    <Page
      title={stream.description || stream.receiver}
      back={{ to: listPath, label: t('Log streams') }}
      badges={<StreamState stream={stream} />}
    >
      {project && !mayChange && <ViewerNotice project={project} />}
      {stream.lastError && !stream.paused && (
        <Alert color="note" title={t('The last batch was not delivered')}>
          {`${faultOf(stream.lastError)} ${t('Events wait and are sent again.')}`}
        </Alert>
      )}
      <Delivery stream={stream} mayChange={mayChange} />
      <Settings {...{ stream, mayChange, listPath }} projectId={project?.id ?? null} />
    </Page>
  );
}

function Delivery({ stream, mayChange }: { stream: Stream; mayChange: boolean }) {
  const { id, paused, position, lag, lastDeliveredAt, failures, failingSince } = stream;
  const test = useAction(TestLogStream, stale, t('Test event queued'));
  const toggle = useAction(UpdateLogStream, stale, paused ? t('Log stream resumed') : t('Log stream paused'));
  return (
    <Section
      title={t('Delivery')}
      actions={
        mayChange && (
          <>
            <SecondaryButton loading={test.busy} disabled={paused} onClick={() => void test.run({ id })}>
              {t('Send test event')}
            </SecondaryButton>
            <SecondaryButton loading={toggle.busy} onClick={() => void toggle.run({ input: { id, paused: !paused } })}>
              {paused ? t('Resume') : t('Pause')}
            </SecondaryButton>
          </>
        )
      }
    >
      <FormError failure={test.failure ?? toggle.failure} />
      <Facts
        labelWidth="10rem"
        facts={[
          [t('Position'), t('Event {position, number}', { position })],
          [
            t('Waiting'),
            lag.waiting === 0
              ? t('No events')
              : t('{count, plural, one {# event} other {# events}}', { count: lag.waiting }),
          ],
          lag.since && [t('Oldest'), <Time key="oldest" at={lag.since} />],
          [t('Last delivered'), <Time key="last" at={lastDeliveredAt} fallback={t('Never')} />],
          failingSince && [t('Failing since'), <Time key="failing" at={failingSince} />],
          failures > 0 && [t('Failed batches'), t('{failures, number} in a row', { failures })],
        ]}
      />
    </Section>
  );
}

interface SettingsProps {
  stream: Stream;
  projectId: string | null;
  mayChange: boolean;
  listPath: string;
}

function Settings({ stream, projectId, mayChange, listPath }: SettingsProps) {
  const navigate = useNavigate();
  const { data, failure } = useQuery(LogStreamTarget, { id: stream.id }, { pause: !mayChange });
  const [dialog, { open, confirm }] = useDialog();
  const target = data?.logStreamTarget;
  const edit = (target: string) =>
    open(
      t('Edit log stream'),
      (close) => <StreamForm projectId={projectId} stream={{ ...stream, target }} onClose={close} />,
      'lg',
    );
  const remove = () =>
    confirm({
      title: t('Delete the log stream to {receiver}?', { receiver: stream.receiver }),
      effect: <p>{t('New and waiting events are no longer sent to it.')}</p>,
      verb: t('Delete log stream'),
      request: request(DeleteLogStream, { id: stream.id }),
      invalidates: [LogStreams, AuditEvents],
      done: t('Log stream deleted'),
      onDone: () => void navigate(listPath),
    });
  return (
    <Section
      title={t('Receiver')}
      actions={
        mayChange && (
          <SecondaryButton disabled={!target} onClick={() => target && edit(target)}>
            {t('Edit')}
          </SecondaryButton>
        )
      }
    >
      <FormError failure={failure} />
      <Receiver stream={stream} target={target} />
      {mayChange && (
        <Group gap="xs">
          <Button variant="subtle" color="red" size="xs" onClick={remove}>
            {t('Delete log stream')}
          </Button>
        </Group>
      )}
      {dialog}
    </Section>
  );
}

function Receiver({ stream, target = stream.receiver }: { stream: Stream; target: string | undefined }) {
  const { kind, types, header, createdAt } = stream;
  return (
    <Facts
      labelWidth="10rem"
      facts={[
        [t('Kind'), kindNames[kind]],
        [targetNames[kind], <AddressCode key="target" text={target} />],
        [t('Events'), types.length <= 3 ? eventsOf(stream) : types.join(', ')],
        kind === 'HTTP' && [t('Format'), formatOf(stream)],
        kind === 'HTTP' && [t('Secret'), header ? t('In the header {header}', { header }) : t('None')],
        [t('Created'), <Time key="created" at={createdAt} />],
      ]}
    />
  );
}

function formatOf({ format, gzip }: Stream): string {
  return `${format === 'JSON_LINES' ? t('JSON lines') : t('JSON array')}${gzip ? ', gzip' : ''}`;
}
