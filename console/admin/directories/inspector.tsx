import { Alert, Badge } from '@mantine/core';
import { useQuery } from '../api.ts';
import { ScimRequests, type ScimRequestsQuery } from '../generated/operations.ts';
import { Code } from '../ui/code/code.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { Section } from '../ui/layout/page.tsx';
import lines from '../ui/lists/disclosures.module.css';
import { Pager, useListParams } from '../ui/lists/list-bar.tsx';
import { Time } from '../ui/time.tsx';
import { adviceFor } from './advice.ts';
import styles from './inspector.module.css';

type ScimRequest = ScimRequestsQuery['scimRequests']['edges'][number]['node'];

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
      ) : !page ? (
        <div className={styles.skeleton}>
          <LinesSkeleton lines={3} />
        </div>
      ) : page.edges.length === 0 ? (
        <Empty icon="directory" title="No requests yet">
          The first request appears here within seconds.
        </Empty>
      ) : (
        <ol className={`${lines.list} ${styles.list}`}>
          {page.edges.map(({ node }) => (
            <li key={node.id}>
              <details>
                <summary>
                  <Badge color={node.status < 300 ? 'good' : node.status < 500 ? 'note' : 'bad'}>{node.status}</Badge>
                  <code>
                    <strong>{node.method}</strong> {node.path}
                  </code>
                  <span className={styles.time}>
                    <Time at={node.at} />
                  </span>
                </summary>
                <Details request={node} />
              </details>
            </li>
          ))}
        </ol>
      )}
      <Pager pageInfo={page?.pageInfo} />
    </Section>
  );
}

function Details({ request }: { request: ScimRequest }) {
  const advice = adviceFor(request);
  return (
    <div className={lines.details}>
      {request.detail && <Alert title={request.detail}>{advice ?? 'See the response below.'}</Alert>}
      <p className={styles.facts}>
        Token {request.tokenName} · {request.durationMs} ms{request.userAgent && ` · ${request.userAgent}`}
      </p>
      <div className={styles.bodies}>
        <Body label="Request" text={request.requestBody} />
        <Body label="Response" text={request.responseBody} />
      </div>
    </div>
  );
}

function Body({ label, text }: { label: string; text: string | null | undefined }) {
  return (
    <div>
      <h3>{label}</h3>
      {text ? <Code code={pretty(text)} label={label} /> : <p className={styles.facts}>Nothing</p>}
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
