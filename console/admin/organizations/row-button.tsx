import { Button } from '@mantine/core';

interface RowButtonProps {
  /** For screen readers: names the row. */
  label: string;
  color?: string;
  onClick(): void;
  children: string;
}

/** An action in a row of a table. */
export const RowButton = ({ label, ...props }: RowButtonProps) => (
  <Button variant="subtle" size="compact-sm" aria-label={label} {...props} />
);
