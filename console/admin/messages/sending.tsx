import { Badge, Button, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useAccess } from '../access.tsx';
import { useMutation, useQuery } from '../api.ts';
import { faultAt } from '../failure.ts';
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
import { Facts } from '../ui/lists/facts.tsx';
import { senderKinds } from './labels.ts';
import styles from './messages.module.css';
import { Stages } from './stages.tsx';

type Sender = MessageSendersQuery['messageSenders'][number];

/** Mail and SMS senders of this instance, with a staged test. */
export function Sending({ project }: { project: Project }) {
  const { data, failure, reload } = useQuery(MessageSenders, {});
  if (!data) return failure ? <LoadError failure={failure} subject="settings" retry={reload} /> : <LinesSkeleton />;
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg" className={styles.tops ?? ''}>
      {data.messageSenders.map((sender) => (
        <SenderCard key={sender.channel} project={project} sender={sender} />
      ))}
    </SimpleGrid>
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
      <Facts
        labelWidth="6rem"
        facts={[
          [
            'Sender',
            sender.kind === null ? (
              <Badge color={isMail ? 'bad' : 'neutral'}>
                {isMail ? 'None: sign-in fails' : 'None: SMS is not offered'}
              </Badge>
            ) : (
              <>
                {senderKinds[sender.kind] ?? sender.kind}{' '}
                {sender.kind === 'mailbox' && <Badge color="note">Not delivered</Badge>}
              </>
            ),
          ],
          sender.target && ['Server', <code key="server">{sender.target}</code>],
          sender.from && ['From', sender.from],
          [
            'Settings',
            <Group key="settings" gap="0.25rem 0.75rem">
              {sender.variables.map((name) => (
                <code key={name}>{name}</code>
              ))}
            </Group>,
          ],
        ]}
      />
      {mayChange && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (!busy) void run();
          }}
        >
          <Group align="flex-end" gap="sm">
            {isOwner && (
              <TextInput
                flex="1 1 14rem"
                label={isMail ? 'Send the test to' : 'Send the test to the number'}
                placeholder={isMail ? 'Your own address' : 'Your own number, or +12025550143'}
                type={isMail ? 'email' : 'tel'}
                value={to}
                error={faultAt(failure, 'to')}
                onChange={(event) => setTo(event.currentTarget.value)}
              />
            )}
            <Button type="submit" variant="default" loading={busy}>
              {isMail ? 'Test the mail server' : 'Test the gateway'}
            </Button>
          </Group>
        </form>
      )}
      <FormError failure={failure} except={isOwner ? ['to'] : []} />
      <div role="status">
        {busy && (
          <Text fz="xs" c="dimmed">
            Testing. This takes up to 30 seconds if a server does not respond.
          </Text>
        )}
        {outcome && (
          <Stack gap="sm">
            <p>
              <Badge color={outcome.passed ? 'good' : 'bad'}>
                {outcome.passed ? `Sent to ${outcome.to}` : `Not sent to ${outcome.to}`}
              </Badge>
            </p>
            <Stages stages={outcome.stages} />
          </Stack>
        )}
      </div>
    </Section>
  );
}
