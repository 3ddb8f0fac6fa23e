import { Alert, Badge } from '@mantine/core';
import { useQuery } from '../api.ts';
import { DevMailbox } from '../generated/operations.ts';
import { CopyButton } from '../ui/code/copy.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { Pager, useListParams } from '../ui/lists/list-bar.tsx';
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
    <Page title="Dev mailbox" lead="Captured mail and text messages, newest first" narrow>
      <Alert title="No mail server is set up">
        Messages stay here, with their one-time codes. Set <code>SMTP_URL</code> before going live.
      </Alert>
      {failure && !page ? (
        <LoadError failure={failure} subject="the mailbox" retry={reload} />
      ) : (
        <Section flush>
          {!page ? (
            <div className={styles.skeleton}>
              <LinesSkeleton />
            </div>
          ) : page.edges.length === 0 ? (
            <Empty icon="mail" title="No messages yet">
              Sign in to an application; the code appears here.
            </Empty>
          ) : (
            <ol className={styles.list}>
              {page.edges.map(({ node }) => {
                const code = /\b(?:\d{6}|[0-9A-Z]{5}-[0-9A-Z]{5})\b/.exec(node.text)?.[0];
                return (
                  <li key={node.id}>
                    <header>
                      <h2>{node.subject ?? 'Text message'}</h2>
                      <Badge>{node.channel === 'SMS' ? 'Text message' : 'Mail'}</Badge>
                      <span className={styles.time}>
                        <Time at={node.at} />
                      </span>
                    </header>
                    <p className={styles.to}>To {node.to}</p>
                    {code && (
                      <p className={styles.code}>
                        <code>{code}</code>
                        <CopyButton value={code} label="code" />
                      </p>
                    )}
                    <details>
                      <summary>Full message</summary>
                      <pre>{node.text}</pre>
                    </details>
                  </li>
                );
              })}
            </ol>
          )}
          <Pager pageInfo={page?.pageInfo} />
        </Section>
      )}
    </Page>
  );
}
