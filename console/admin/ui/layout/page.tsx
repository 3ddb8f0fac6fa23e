import { type ReactNode, useEffect, useRef } from 'react';
import { Link } from 'react-router';
import { Icon } from '../icon.tsx';
import styles from './page.module.css';

interface PageProps {
  title: string;
  /** Short description of the page. */
  lead?: ReactNode;
  /** Badges beside the title. */
  badges?: ReactNode;
  actions?: ReactNode;
  /** Link to the parent page. */
  back?: { to: string; label: string };
  /** Narrow column, for forms. */
  narrow?: boolean;
  children: ReactNode;
}

let pagesSeen = 0;

/** Page layout: sets the document title and focuses the heading after navigation. */
export function Page({ title, lead, badges, actions, back, narrow = false, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Latchkey`;
  }, [title]);
  useEffect(() => {
    pagesSeen += 1;
    // Unless a field or dialog already has focus.
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
            {badges}
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
  /** No padding, for content with its own, such as tables. */
  flush?: boolean;
  tone?: 'danger';
  children?: ReactNode;
}

/** A card with a heading. */
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
