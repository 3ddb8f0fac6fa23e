import type { ReactNode } from 'react';
import styles from './mark.module.css';

export type Tone = 'good' | 'bad' | 'note' | 'calm' | 'accent';

/** A state in a word; the dot says it again by colour, never alone. */
export function Mark({ tone = 'calm', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span className={styles.mark} data-tone={tone}>
      {children}
    </span>
  );
}

/** What people must know before they go on. */
export function Notice({ tone = 'note', title, children }: { tone?: Tone; title?: string; children: ReactNode }) {
  return (
    <div className={styles.notice} data-tone={tone} role={tone === 'bad' ? 'alert' : undefined}>
      {title && <strong>{title}</strong>}
      <div>{children}</div>
    </div>
  );
}
