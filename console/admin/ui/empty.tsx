import type { ReactNode } from 'react';
import styles from './empty.module.css';
import { Icon, type IconName } from './icon.tsx';

/** Nothing here yet: one sentence that teaches, one thing to do. */
export function Empty({
  icon,
  title,
  children,
  action,
}: {
  icon: IconName;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className={styles.empty}>
      <span className={styles.icon}>
        <Icon name={icon} size={24} />
      </span>
      <h3>{title}</h3>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}
