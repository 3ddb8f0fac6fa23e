import { Badge, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
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
import { t } from '../language/language.ts';
import type { Project } from '../projects/project.tsx';
import { senderKinds } from '../system/sender-kinds.ts';
import { SecondaryButton } from '../ui/buttons.tsx';
import { Code } from '../ui/code/code.tsx';
import { FormError, LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { Section } from '../ui/layout/page.tsx';
import { Facts } from '../ui/lists/facts.tsx';
import styles from './messages.module.css';
import { Stages } from './stages.tsx';

type Sender = MessageSendersQuery['messageSenders'][number];
type Outcome = TestSenderMutation['testSender'];

const mailExample = `SMTP_URL=smtps://user:password@mail.example.com
MAIL_FROM=signin@example.com`;

/** Mail and SMS senders of this instance, with a staged test. */
export function Sending({ project }: { project: Project }) {
  const { data, failure, reload } = useQuery(MessageSenders, {});
  if (!data)
    return failure ? <LoadError failure={failure} subject={t('settings')} retry={reload} /> : <LinesSkeleton />;
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
  const [outcome, setOutcome] = useState<Outcome>();
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
      title={isMail ? t('Mail') : t('Text messages')}
      lead={t('Set by environment variables of the server, for all projects.')}
    >
      <SenderFacts sender={sender} />
      {isMail && (sender.kind === null || sender.kind === 'mailbox') && (
        <>
          <Text>{t('Set SMTP_URL and MAIL_FROM before going live.')}</Text>
          <Code code={mailExample} label={t('Mail server (SMTP)')} />
        </>
      )}
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
                label={isMail ? t('Send the test to') : t('Send the test to the number')}
                placeholder={isMail ? t('Your own address') : t('Your own number, or +12025550143')}
                type={isMail ? 'email' : 'tel'}
                value={to}
                error={faultAt(failure, 'to')}
                onChange={(event) => setTo(event.currentTarget.value)}
              />
            )}
            <SecondaryButton type="submit" loading={busy}>
              {isMail ? t('Test the mail server') : t('Test the gateway')}
            </SecondaryButton>
          </Group>
        </form>
      )}
      <FormError failure={failure} except={isOwner ? ['to'] : []} />
      <div role="status" className={styles.status}>
        {busy && (
          <Text fz="xs" c="dimmed">
            {t('Testing. This takes up to 30 seconds if a server does not respond.')}
          </Text>
        )}
        {outcome && <Outcome outcome={outcome} />}
      </div>
    </Section>
  );
}

function Outcome({ outcome: { passed, to, stages } }: { outcome: Outcome }) {
  return (
    <Stack gap="sm">
      <p>
        <Badge color={passed ? 'good' : 'bad'}>
          {passed ? t('Sent to {to}', { to }) : t('Not sent to {to}', { to })}
        </Badge>
      </p>
      <Stages stages={stages} />
    </Stack>
  );
}

function SenderFacts({ sender: { channel, kind, target, from, variables } }: { sender: Sender }) {
  const none = channel === 'MAIL' ? t('None: sign-in fails') : t('None: SMS is not offered');
  return (
    <Facts
      labelWidth="6rem"
      facts={[
        [
          t('Sender'),
          kind === null ? (
            <Badge color={channel === 'MAIL' ? 'bad' : 'neutral'}>{none}</Badge>
          ) : (
            <>
              {senderKinds[kind] ?? kind} {kind === 'mailbox' && <Badge color="note">{t('Not delivered')}</Badge>}
            </>
          ),
        ],
        target && [t('Server'), <code key="server">{target}</code>],
        from && [t('From'), from],
        [
          t('Settings'),
          <Group key="settings" gap="0.25rem 0.75rem">
            {variables.map((name) => (
              <code key={name}>{name}</code>
            ))}
          </Group>,
        ],
      ]}
    />
  );
}
