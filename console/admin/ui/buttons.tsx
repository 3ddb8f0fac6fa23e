import { Button, type ButtonProps, type ElementProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { Icon } from './icon.tsx';

type Props = ButtonProps & ElementProps<'button', keyof ButtonProps>;

export function SecondaryButton(props: Props) {
  return <Button variant="default" {...props} />;
}

/** Button that opens a page of the console. */
export function LinkButton(props: ButtonProps & { to: string; children: ReactNode }) {
  return <Button component={Link} variant="default" {...props} />;
}

/** Button that adds to a list. */
export function AddButton(props: Props) {
  return <Button leftSection={<Icon name="plus" size={16} />} {...props} />;
}
