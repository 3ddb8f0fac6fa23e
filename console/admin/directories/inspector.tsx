import { Alert, Badge, SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '../api.ts';
import { ScimRequests } from '../generated/operations.ts';
import { Code } from '../ui/code/code.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Section } from '../ui/layout/page.tsx';
import { Disclosures } from '../ui/lists/disclosures.tsx';
import { Pager, useListParams } from '../ui/lists/list-bar.tsx';
import { Time } from '../ui/time.tsx';
import { adviceFor } from './advice.ts';
import styles from './inspector.module.css';

/** Recent SCIM requests with responses and advice. */
export function Inspector({ projectId }: { projectId: string }) {
  const { get } = useListParams();
  const after = get('after');
  const { data, failure, reload } = useQuery(
    ScimRequests,
    { projectId, after: after ?? null },
    { keep: true, ...(after ? {} : { everySeconds: 5 }) },
  );
  const page = data?.scimRequests;
  return (
    <Section
      flush
      title="Requests"
      lead="Last 200 requests of 7 days, newest first, without secrets. Updates automatically."
    >
      {failure && !page ? (
        <LoadError failure={failure} subject="the list of requests" retry={reload} />
      ) : page?.edges.length === 0 ? (
        <Empty icon="directory" title="No requests yet">
          The first request appears here within seconds.
        </Empty>
      ) : (
        <Disclosures
          rows={page?.edges.map(({ node }) => node)}
          columns="4.5rem minmax(0, 1fr) 9rem"
          narrowColumns="4.5rem minmax(0, 1fr)"
          summary={({ status, method, path, at }) => (
            <>
              <span>
                <Badge color={status < 300 ? 'good' : status < 500 ? 'note' : 'bad'}>{status}</Badge>
              </span>
              <Text component="code" truncate>
                <strong>{method}</strong> {path}
              </Text>
              <span className={styles.time}>
                <Time at={at} />
              </span>
            </>
          )}
          details={(request) => (
            <>
              {request.detail && (
                <Alert title={request.detail}>{adviceFor(request) ?? 'See the response below.'}</Alert>
              )}
              {request.ignored && request.ignored.length > 0 && <Ignored names={request.ignored} />}
              <Text c="dimmed">
                Token {request.tokenName} · {request.durationMs} ms{request.userAgent && ` · ${request.userAgent}`}
              </Text>
              <SimpleGrid cols={{ base: 1, sm: 2 }} className={styles.bodies ?? ''}>
                <Body label="Request" text={request.requestBody} />
                <Body label="Response" text={request.responseBody} />
              </SimpleGrid>
            </>
          )}
        />
      )}
      <Pager pageInfo={page?.pageInfo} />
    </Section>
  );
}

/** Attributes that were sent for nothing. */
function Ignored({ names }: { names: readonly string[] }) {
  const count = names.length === 1 ? '1 attribute' : `${names.length} attributes`;
  return (
    <Alert color="note" title={`${count} ignored`}>
      No schema has them, so their values were not stored: {names.join(', ')}.
    </Alert>
  );
}

function Body({ label, text }: { label: string; text: string | null | undefined }) {
  return (
    <div>
      <Text component="h3" fz="xs" fw={550} mb={4}>
        {label}
      </Text>
      {text ? <Code code={pretty(text)} label={label} /> : <Text c="dimmed">Nothing</Text>}
    </div>
  );
}

/** Indented JSON; truncated bodies stay unchanged. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
