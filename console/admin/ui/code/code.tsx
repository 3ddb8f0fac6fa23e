import { Fragment } from 'react';
import styles from './code.module.css';
import { CopyButton } from './copy.tsx';

const marked = /‹([^›]*)›/g;

/** Copyable code. @param code values between ‹ and › are highlighted */
export function Code({ code, label = 'code' }: { code: string; label?: string }) {
  const parts = code.split(marked);
  return (
    <div className={styles.code}>
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>
          {parts.map((part, index) =>
            index % 2 === 1 ? <mark key={index}>{part}</mark> : <Fragment key={index}>{part}</Fragment>,
          )}
        </code>
      </pre>
      <div className={styles.copy}>
        <CopyButton value={code.replace(marked, '$1')} label={label} />
      </div>
    </div>
  );
}
