import { Button } from '@mantine/core';
import { Link } from 'react-router';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { Icon } from '../ui/icon.tsx';
import { Section } from '../ui/layout/page.tsx';
import { Time } from '../ui/time.tsx';
import styles from './checklist.module.css';

export interface Task {
  name: string;
  isDone: boolean;
  isOptional?: boolean;
  /** Text once done. */
  done: string;
  /** Completion time, where known. */
  since?: string | undefined;
  /** Text while open: why it matters. */
  open: string;
  action?: { label: string; to: string };
}

/** Setup checklist; collapses to one line once complete. */
export function Checklist({ tasks }: { tasks: readonly Task[] | undefined }) {
  if (!tasks) {
    return (
      <Section title="Getting ready">
        <LinesSkeleton lines={5} />
      </Section>
    );
  }
  const left = tasks.filter(({ isDone, isOptional }) => !isDone && !isOptional).length;
  const next = tasks.find(({ isDone, action }) => !isDone && action);
  return (
    <Section
      flush
      title={left === 0 ? 'Setup complete' : 'Getting ready'}
      lead={left === 0 ? 'All required steps are done.' : `${left} of ${tasks.length} left`}
    >
      <ol className={styles.list}>
        {tasks.map((task) => (
          <li key={task.name} data-done={task.isDone || undefined}>
            <span className={styles.box}>
              {task.isDone && <Icon name="check" size={14} />}
              <span className={styles.said}>{task.isDone ? 'Done:' : 'To do:'}</span>
            </span>
            <div className={styles.text}>
              <strong>{task.isDone ? task.done : task.name}</strong>
              {task.isDone ? (
                task.since && (
                  <span>
                    Last: <Time at={task.since} />
                  </span>
                )
              ) : (
                <span>
                  {task.open}
                  {task.isOptional && ' Optional.'}
                </span>
              )}
            </div>
            {!task.isDone && task.action && (
              <Button component={Link} to={task.action.to} size="xs" variant={task === next ? 'filled' : 'default'}>
                {task.action.label}
              </Button>
            )}
          </li>
        ))}
      </ol>
    </Section>
  );
}
