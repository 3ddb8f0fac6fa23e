import { useEffect, useRef } from 'react';
import { NavLink, useLocation } from 'react-router';
import styles from './tabs.module.css';

/** Tabs of a page, each with its own URL. */
export function Tabs({
  label,
  tabs,
}: {
  label: string;
  tabs: readonly { to: string; label: string; end?: boolean }[];
}) {
  const nav = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // On phones the row scrolls.
  useEffect(() => {
    nav.current?.querySelector('[aria-current="page"]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [pathname]);
  return (
    <nav ref={nav} className={styles.tabs} aria-label={label}>
      {tabs.map(({ to, label: name, end = false }) => (
        <NavLink key={to} to={to} end={end} replace>
          {name}
        </NavLink>
      ))}
    </nav>
  );
}
