import { type ReactNode, useEffect, useRef } from 'react';
import { Link } from 'react-router';
import { Icon } from './icon.tsx';
import styles from './page.module.css';

interface PageProps {
  title: string;
  /** One half-sentence: what this page is for. */
  lead?: ReactNode;
  /** Chips beside the title. */
  marks?: ReactNode;
  actions?: ReactNode;
  /** Where this page belongs. */
  back?: { to: string; label: string };
  /** Forms are read more easily in a narrow column. */
  narrow?: boolean;
  children: ReactNode;
}

let pagesSeen = 0;

/** A page: its title is the document's, and takes the focus when somebody comes from another page. */
export function Page({ title, lead, marks, actions, back, narrow = false, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Latchkey`;
  }, [title]);
  useEffect(() => {
    pagesSeen += 1;
    // Unless something on the page, or a dialog over it, has taken it already.
    const isTaken = document.activeElement?.closest('[role="dialog"], main form') != null;
    if (pagesSeen > 1 && !isTaken) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div className={narrow ? `${styles.page} ${styles.narrow}` : styles.page}>
      {back && (
        <Link to={back.to} className={styles.back}>
          <Icon name="left" size={16} /> {back.label}
        </Link>
      )}
      <header className={styles.head}>
        <div className={styles.titles}>
          <div className={styles.titleRow}>
            <h1 ref={heading} tabIndex={-1}>
              {title}
            </h1>
            {marks}
          </div>
          {lead && <p className={styles.lead}>{lead}</p>}
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface SectionProps {
  title?: string;
  lead?: ReactNode;
  actions?: ReactNode;
  /** What is inside brings its own padding, as a table does. */
  flush?: boolean;
  tone?: 'danger';
  children?: ReactNode;
}

/** One subject of a page, on a card of its own. */
export function Section({ title, lead, actions, flush = false, tone, children }: SectionProps) {
  return (
    <section className={styles.section} data-flush={flush || undefined} data-tone={tone} aria-label={title}>
      {(title || actions) && (
        <header className={styles.sectionHead}>
          <div>
            {title && <h2>{title}</h2>}
            {lead && <p className={styles.lead}>{lead}</p>}
          </div>
          {actions && <div className={styles.actions}>{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}
