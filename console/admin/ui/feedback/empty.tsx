import { Text, ThemeIcon } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon, type IconName } from '../icon.tsx';
import styles from './empty.module.css';

interface EmptyProps {
  icon: IconName;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

/** Empty state: one sentence and one action. Only a line below the heading of a section. */
export function Empty({ icon, title, children, action }: EmptyProps) {
  return (
    <div className={styles.empty}>
      <ThemeIcon size="3rem" radius="lg" variant="light" color="neutral" className={styles.icon ?? ''}>
        <Icon name={icon} size={24} />
      </ThemeIcon>
      <h3>{title}</h3>
      {children && <Text c="dimmed">{children}</Text>}
      {action}
    </div>
  );
}
