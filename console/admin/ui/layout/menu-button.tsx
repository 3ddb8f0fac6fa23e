import { Button, type ButtonProps, Menu, type MenuProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from '../icon.tsx';

interface MenuButtonProps extends ButtonProps, Pick<MenuProps, 'position'> {
  label: string;
  /** Items of the menu. */
  children: ReactNode;
}

/** Button that opens a menu; with an arrow, unless it has an icon. */
export function MenuButton({ label, position = 'bottom-end', children, ...button }: MenuButtonProps) {
  return (
    <Menu position={position}>
      <Menu.Target>
        <Button variant="default" rightSection={!button.leftSection && <Icon name="down" size={14} />} {...button}>
          {label}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}
