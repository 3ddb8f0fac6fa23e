import { Alert, Badge, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '../api.ts';
import { DevMailbox, type DevMailboxQuery } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { CopyButton } from '../ui/code/copy.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { Pager, useListParams } from '../ui/lists/list-bar.tsx';
import rows from '../ui/lists/rows.module.css';
import { Time } from '../ui/time.tsx';
import styles from './mailbox-page.module.css';

/** Captured messages, updated live. */
export function Component() {
  const { get } = useListParams();
  const after = get('after');
  const { data, failure, reload } = useQuery(
    DevMailbox,
    { after: after ?? null },
    { keep: true, ...(after ? {} : { everySeconds: 3 }) },
  );
  const page = data?.devMailbox;
  return (
    <Page title={t('Dev mailbox')} lead={t('Captured mail and text messages, newest first')} narrow>
      <Alert title={t('No mail server is set up')}>
        {rich('Messages stay here, with their one-time codes. Set <code>SMTP_URL</code> before going live.')}
      </Alert>
      {failure && !page ? (
        <LoadError failure={failure} subject={t('the mailbox')} retry={reload} />
      ) : (
        <Section flush>
          {!page ? (
            <LinesSkeleton flush />
          ) : page.edges.length === 0 ? (
            <Empty icon="mail" title={t('No messages yet')}>
              {t('Sign in to an application; the code appears here.')}
            </Empty>
          ) : (
            <ol className={`${rows.rows} ${styles.list}`}>
              {page.edges.map(({ node }) => (
                <Message key={node.id} message={node} />
              ))}
            </ol>
          )}
          <Pager pageInfo={page?.pageInfo} />
        </Section>
      )}
    </Page>
  );
}

type Captured = DevMailboxQuery['devMailbox']['edges'][number]['node'];

function Message({ message: { subject, channel, at, to, text } }: { message: Captured }) {
  const code = /\b(?:\d{6}|[0-9A-Z]{5}-[0-9A-Z]{5})\b/.exec(text)?.[0];
  return (
    <Stack component="li" gap="xs" align="flex-start">
      <Group component="header" gap="0.25rem 0.75rem" w="100%">
        <Text component="h2" fz="md" fw={600}>
          {subject ?? t('Text message')}
        </Text>
        <Badge>{channel === 'SMS' ? t('Text message') : t('Mail')}</Badge>
        <Text span c="dimmed" ml="auto">
          <Time at={at} />
        </Text>
      </Group>
      <Text c="dimmed">{t('To {to}', { to })}</Text>
      {code && (
        <Group gap="xs" className={styles.code ?? ''}>
          <code>{code}</code>
          <CopyButton value={code} label={t('code')} />
        </Group>
      )}
      <details>
        <summary>{t('Full message')}</summary>
        <pre>{text}</pre>
      </details>
    </Stack>
  );
}
