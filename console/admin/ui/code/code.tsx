import { Fragment, useId, useState } from 'react';
import styles from './code.module.css';
import { CopyButton } from './copy.tsx';

export interface Snippet {
  label: string;
  /** Values of this application stand between ‹ and › and are highlighted. */
  code: string;
}

const marked = /‹([^›]*)›/g;

/** Copyable code with this application's values filled in. */
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

/** One snippet in several languages. */
export function Snippets({ snippets }: { snippets: readonly Snippet[] }) {
  const [chosen, setChosen] = useState(0);
  const id = useId();
  const snippet = snippets[Math.min(chosen, snippets.length - 1)];
  if (!snippet) return null;
  const go = (by: number, tabs: HTMLElement) => {
    const next = (chosen + by + snippets.length) % snippets.length;
    setChosen(next);
    (tabs.children[next] as HTMLElement | undefined)?.focus();
  };
  return (
    <div className={styles.snippets}>
      <div
        className={styles.tabs}
        role="tablist"
        aria-label="Language"
        onKeyDown={(event) => {
          if (event.key === 'ArrowRight') go(1, event.currentTarget);
          if (event.key === 'ArrowLeft') go(-1, event.currentTarget);
        }}
      >
        {snippets.map(({ label }, index) => (
          <button
            key={label}
            type="button"
            role="tab"
            id={`${id}-${index}`}
            aria-selected={index === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={index === chosen ? 0 : -1}
            onClick={() => setChosen(index)}
          >
            {label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        <Code code={snippet.code} label={snippet.label} />
      </div>
    </div>
  );
}
