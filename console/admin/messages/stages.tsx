import type { TestSenderMutation } from '../generated/operations.ts';
import { Icon } from '../ui/icon.tsx';
import { stageNames } from './labels.ts';
import styles from './stages.module.css';

type Stage = TestSenderMutation['testSender']['stages'][number];

const said: Record<string, string> = {
  passed: 'passed',
  failed: 'failed',
  skipped: 'nothing to do',
  'not-reached': 'not reached',
};

/** Stages of a delivery test, each with its result and, on failure, advice. */
export function Stages({ stages }: { stages: readonly Stage[] }) {
  return (
    <ol className={styles.stages}>
      {stages.map(({ name, state, milliseconds, detail, advice }) => (
        <li key={name} data-state={state}>
          <span className={styles.sign}>
            <Icon name={state === 'passed' ? 'check' : state === 'failed' ? 'close' : 'more'} size={16} />
          </span>
          <div>
            <p className={styles.head}>
              <strong>{stageNames[name] ?? name}</strong>
              <span>
                {said[state] ?? state}
                {milliseconds !== null && milliseconds > 0 && ` in ${milliseconds} ms`}
              </span>
            </p>
            {detail && <p className={styles.detail}>{detail}</p>}
            {advice && <p className={styles.advice}>{advice}</p>}
          </div>
        </li>
      ))}
    </ol>
  );
}
