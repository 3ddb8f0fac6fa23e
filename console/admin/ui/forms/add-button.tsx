import { Button, type ButtonProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from '../icon.tsx';

interface AddButtonProps extends ButtonProps {
  onClick?: () => void;
  children: ReactNode;
}

/** Button that adds to a list. */
export function AddButton(props: AddButtonProps) {
  return <Button leftSection={<Icon name="plus" size={16} />} {...props} />;
}
