import { Box, Group, Text } from '@mantine/core';
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
      <Group component="header" justify="space-between" align="flex-start" gap="0.75rem 1.5rem">
        <Box flex="1 1 20rem" miw={0}>
          <Group gap="0.25rem 0.75rem">
            <h1 ref={heading} tabIndex={-1}>
              {title}
            </h1>
            {badges}
          </Group>
          {lead && <Lead>{lead}</Lead>}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </div>
  );
}

interface SectionProps {
  title?: string | undefined;
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
        <Group component="header" justify="space-between" align="flex-start" gap="0.75rem 1.5rem">
          <Box flex="1 1 16rem">
            {title && <h2>{title}</h2>}
            {lead && <Lead>{lead}</Lead>}
          </Box>
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
      )}
      {children}
    </section>
  );
}

function Lead({ children }: { children: ReactNode }) {
  return (
    <Text c="dimmed" maw="44rem" mt={4} style={{ textWrap: 'pretty' }}>
      {children}
    </Text>
  );
}
