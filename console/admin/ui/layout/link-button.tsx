import { Button, type ButtonProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';

/** Button that opens a page of the console. */
export function LinkButton(props: ButtonProps & { to: string; children: ReactNode }) {
  return <Button component={Link} variant="default" {...props} />;
}
