import { Badge, Button } from '@mantine/core';
import { useState } from 'react';
import { useMutation } from '../api.ts';
import { ScimRequests, ScimTokens, TestDirectory, type TestDirectoryMutation } from '../generated/operations.ts';
import { FormError } from '../ui/feedback/errors.tsx';
import { Section } from '../ui/layout/page.tsx';
import styles from './self-test.module.css';

type Step = TestDirectoryMutation['testDirectory'][number];

/** Tests Latchkey's SCIM endpoint without a directory. */
export function SelfTest({ projectId, isOn }: { projectId: string; isOn: boolean }) {
  const [steps, setSteps] = useState<readonly Step[]>();
  const [test, busy, failure] = useMutation(TestDirectory, [ScimTokens, ScimRequests]);
  const run = async () => {
    const outcome = await test({ projectId });
    setSteps(outcome.data?.testDirectory);
  };
  const failed = steps?.filter(({ passed }) => !passed).length ?? 0;
  return (
    <Section
      flush
      title="Self-test"
      lead="Sends real SCIM requests with a temporary token and user."
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
                <Badge color="good">All {steps.length} passed</Badge> Latchkey works. Check the directory's settings or
                the network in between.
              </>
            ) : (
              <>
                <Badge color="bad">
                  {failed} of {steps.length} failed
                </Badge>{' '}
                Latchkey has a problem: contact the operator of this server.
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
