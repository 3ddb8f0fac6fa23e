import { VisuallyHidden } from '@mantine/core';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { Icon } from '../ui/icon.tsx';
import { Section } from '../ui/layout/page.tsx';
import rows from '../ui/lists/rows.module.css';
import { Time } from '../ui/time.tsx';
import styles from './checklist.module.css';
import { openTasks, type Task } from './tasks.ts';

/** Setup checklist; collapses to one line once complete. */
export function Checklist({ tasks }: { tasks: readonly Task[] | undefined }) {
  if (!tasks) {
    return (
      <Section title={t('Getting ready')}>
        <LinesSkeleton lines={5} />
      </Section>
    );
  }
  const required = tasks.filter(({ isOptional }) => !isOptional);
  const open = openTasks(tasks);
  const left = open.length;
  const [next] = open;
  const list = (
    <ol className={rows.rows}>
      {tasks.map((task) => (
        <li key={task.name} className={styles.task} data-done={task.isDone || undefined}>
          <span className={styles.mark}>
            {task.isDone && <Icon name="check" size={14} />}
            <VisuallyHidden>{task.isDone ? t('Done:') : t('To do:')}</VisuallyHidden>
          </span>
          <div>
            <p>{task.isDone ? task.done : task.name}</p>
            <p className={styles.note}>
              {!task.isDone && task.open}
              {!task.isDone && task.isOptional && ` ${t('Optional.')}`}
              {task.isDone && task.since && rich('Last: <time></time>', { time: () => <Time at={task.since} /> })}
            </p>
          </div>
          {!task.isDone && task.action && (
            <LinkButton to={task.action.to} size="xs" variant={task === next ? 'filled' : 'default'}>
              {task.action.label}
            </LinkButton>
          )}
        </li>
      ))}
    </ol>
  );
  if (left > 0) {
    return (
      <Section
        flush
        title={t('Getting ready')}
        lead={t('{left} of {required} required steps left', { left, required: required.length })}
      >
        {list}
      </Section>
    );
  }
  return (
    <Section flush>
      <details className={styles.done}>
        <summary>
          <h2>{t('Setup complete')}</h2>
        </summary>
        {list}
      </details>
    </Section>
  );
}
