import { Badge, Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useAccess } from '../access.tsx';
import { useMutation, useQuery } from '../api.ts';
import {
  MessageSenders,
  type MessageSendersQuery,
  TestSender,
  type TestSenderMutation,
} from '../generated/operations.ts';
import type { Project } from '../projects/project.tsx';
import { FormError, LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { Section } from '../ui/layout/page.tsx';
import { senderKinds } from './labels.ts';
import styles from './messages.module.css';
import { Stages } from './stages.tsx';

type Sender = MessageSendersQuery['messageSenders'][number];

/** Mail and SMS senders of this instance, with a staged test. */
export function Sending({ project }: { project: Project }) {
  const { data, failure, reload } = useQuery(MessageSenders, {});
  if (!data) return failure ? <LoadError failure={failure} subject="settings" retry={reload} /> : <LinesSkeleton />;
  return (
    <div className={styles.halves}>
      {data.messageSenders.map((sender) => (
        <SenderCard key={sender.channel} project={project} sender={sender} />
      ))}
    </div>
  );
}

function SenderCard({ project, sender }: { project: Project; sender: Sender }) {
  const { mayChange, isOwner } = useAccess(project.id);
  const [to, setTo] = useState('');
  const [outcome, setOutcome] = useState<TestSenderMutation['testSender']>();
  const [test, busy, failure] = useMutation(TestSender, []);
  const isMail = sender.channel === 'MAIL';
  const run = async () => {
    setOutcome(undefined);
    const input = { projectId: project.id, channel: sender.channel, to: to.trim() || null };
    const { data } = await test({ input });
    setOutcome(data?.testSender);
  };
  return (
    <Section
      title={isMail ? 'Mail' : 'Text messages'}
      lead="Set by environment variables of the server, for all projects."
    >
      <dl className={styles.facts}>
        <div>
          <dt>Sender</dt>
          <dd>
            {sender.kind === null ? (
              <Badge color={isMail ? 'bad' : 'neutral'}>
                {isMail ? 'None: sign-in fails' : 'None: SMS is not offered'}
              </Badge>
            ) : (
              <>
                {senderKinds[sender.kind] ?? sender.kind}{' '}
                {sender.kind === 'mailbox' && <Badge color="note">Not delivered</Badge>}
              </>
            )}
          </dd>
        </div>
        {sender.target && (
          <div>
            <dt>Server</dt>
            <dd>
              <code>{sender.target}</code>
            </dd>
          </div>
        )}
        {sender.from && (
          <div>
            <dt>From</dt>
            <dd>{sender.from}</dd>
          </div>
        )}
        <div>
          <dt>Settings</dt>
          <dd className={styles.names}>
            {sender.variables.map((name) => (
              <code key={name}>{name}</code>
            ))}
          </dd>
        </div>
      </dl>
      {mayChange && (
        <form
          className={styles.test}
          onSubmit={(event) => {
            event.preventDefault();
            if (!busy) void run();
          }}
        >
          {isOwner && (
            <TextInput
              label={isMail ? 'Send the test to' : 'Send the test to the number'}
              placeholder={isMail ? 'Your own address' : 'Your own number, or +12025550143'}
              type={isMail ? 'email' : 'tel'}
              value={to}
              error={failure?.field === 'to' ? failure.message : undefined}
              onChange={(event) => setTo(event.currentTarget.value)}
            />
          )}
          <Button type="submit" variant="default" loading={busy}>
            {isMail ? 'Test the mail server' : 'Test the gateway'}
          </Button>
        </form>
      )}
      <FormError failure={failure?.field === 'to' && isOwner ? undefined : failure} />
      <div role="status">
        {busy && <p className={styles.note}>Testing. This takes up to 30 seconds if a server does not respond.</p>}
        {outcome && (
          <div className={styles.stack}>
            <p>
              <Badge color={outcome.passed ? 'good' : 'bad'}>
                {outcome.passed ? `Sent to ${outcome.to}` : `Not sent to ${outcome.to}`}
              </Badge>
            </p>
            <Stages stages={outcome.stages} />
          </div>
        )}
      </div>
    </Section>
  );
}
