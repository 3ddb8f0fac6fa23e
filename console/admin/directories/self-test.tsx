import { Badge, Button } from '@mantine/core';
import { useState } from 'react';
import { useMutation } from '../api.ts';
import type { Failure } from '../failure.ts';
import { ScimRequests, ScimTokens, TestDirectory, type TestDirectoryMutation } from '../generated/operations.ts';
import { FormError } from '../ui/feedback/errors.tsx';
import { Section } from '../ui/layout/page.tsx';
import styles from './self-test.module.css';

type Step = TestDirectoryMutation['testDirectory'][number];

/** Tests Latchkey's SCIM endpoint without a directory, to tell which side fails. */
export function SelfTest({ projectId, isOn }: { projectId: string; isOn: boolean }) {
  const [steps, setSteps] = useState<readonly Step[]>();
  const [failure, setFailure] = useState<Failure>();
  const [test, busy] = useMutation(TestDirectory, [ScimTokens, ScimRequests]);
  const run = async () => {
    const outcome = await test({ projectId });
    setFailure(outcome.failure);
    setSteps(outcome.data?.testDirectory);
  };
  const failed = steps?.filter(({ passed }) => !passed).length ?? 0;
  return (
    <Section
      flush
      title="Self-test"
      lead="Latchkey plays a directory against itself: real SCIM requests with a token of their own, on a user who is gone afterwards."
      actions={
        <Button variant="default" onClick={run} loading={busy} disabled={!isOn}>
          {steps ? 'Run again' : 'Run the self-test'}
        </Button>
      }
    >
      <div role="status">
        {steps && (
          <p className={styles.verdict}>
            {failed === 0 ? (
              <>
                <Badge color="good">All {steps.length} passed</Badge> This side works. What still fails is set up in the
                directory, or between it and here.
              </>
            ) : (
              <>
                <Badge color="bad">
                  {failed} of {steps.length} failed
                </Badge>{' '}
                Something is wrong on this side: tell whoever runs this server.
              </>
            )}
          </p>
        )}
      </div>
      {failure && (
        <div className={styles.verdict}>
          <FormError failure={failure} />
        </div>
      )}
      {steps && (
        <ol className={styles.steps}>
          {steps.map(({ name, proves, passed, request, fault, durationMs }) => (
            <li key={name}>
              <Badge color={passed ? 'good' : 'bad'}>{passed ? 'Passed' : 'Failed'}</Badge>
              <div>
                <p>
                  <strong>{name}.</strong> {fault ?? proves}
                </p>
                <code>{request}</code>
              </div>
              <span>{durationMs} ms</span>
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}
