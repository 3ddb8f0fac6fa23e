import {
  type CSSVariablesResolver,
  createTheme,
  defaultVariantColorsResolver,
  type MantineColorScheme,
  type MantineColorSchemeManager,
  type MantineColorsTuple,
} from '@mantine/core';
import { t } from './language/language.ts';

/** Accent shades; 6 is the primary color in light, 4 in dark (see tokens.css). */
const accent: MantineColorsTuple = [
  '#f0f4ff',
  '#e0e8ff',
  '#c3d1fd',
  '#93adff',
  '#7896f5',
  '#5b7ff0',
  '#2f55d4',
  '#2445b3',
  '#1d3890',
  '#172c70',
];
const red: MantineColorsTuple = [
  '#fdeeed',
  '#fbdad8',
  '#f7b9b5',
  '#ff9c94',
  '#ee6d64',
  '#d8453b',
  '#b3261e',
  '#991e17',
  '#7c1812',
  '#60120d',
];
const gray: MantineColorsTuple = [
  '#f7f8fa',
  '#eef1f5',
  '#dfe2e7',
  '#cdd2d9',
  '#a9b1bc',
  '#7d8694',
  '#555e6b',
  '#3d4551',
  '#262c35',
  '#15181d',
];
const dark: MantineColorsTuple = [
  '#e9ecf0',
  '#c5ccd6',
  '#a3acb9',
  '#8d97a5',
  '#3a424e',
  '#1f252e',
  '#161a21',
  '#0e1116',
  '#0b0e13',
  '#07090c',
];

/** Filled: background, hover background, text. Otherwise: text, hover background. */
const inks = {
  accent: ['var(--accent)', 'var(--accent-strong)', 'var(--on-accent)', 'var(--accent-text)', 'var(--accent-tint)'],
  red: ['var(--danger)', 'var(--danger-strong)', 'var(--on-accent)', 'var(--bad)', 'var(--bad-tint)'],
} as const;

/** Status colors: text, background. */
const tones = {
  good: ['var(--good)', 'var(--good-tint)'],
  bad: ['var(--bad)', 'var(--bad-tint)'],
  note: ['var(--note)', 'var(--note-tint)'],
  neutral: ['var(--soft)', 'var(--tint)'],
  accent: ['var(--accent-text)', 'var(--accent-tint)'],
} as const;

export type Tone = keyof typeof tones;

/** One accent, neutral grays, an 8-point grid, one type scale. */
export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: { light: 6, dark: 5 },
  colors: { accent, red, gray, dark },
  black: '#15181d',
  variantColorResolver: (input) => {
    if (input.variant === 'light') {
      const [color, background] = tones[input.color as Tone] ?? tones.neutral;
      return { color, background, hover: background, border: '0' };
    }
    const standard = defaultVariantColorsResolver(input);
    if (input.color === 'gray') return standard;
    const [ground, strong, ink, text, tint] = input.color === 'red' ? inks.red : inks.accent;
    if (input.variant === 'filled') return { ...standard, background: ground, hover: strong, color: ink };
    return input.variant === 'subtle' ? { ...standard, color: text, hover: tint } : standard;
  },
  fontFamily: 'var(--sans)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: '0.8125rem', sm: '0.875rem', md: '0.9375rem', lg: '1.0625rem', xl: '1.25rem' },
  spacing: { xs: '0.5rem', sm: '0.75rem', md: '1rem', lg: '1.5rem', xl: '2rem' },
  radius: { xs: '0.25rem', sm: '0.375rem', md: '0.5rem', lg: '0.75rem', xl: '1rem' },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // Scroll lock shifts the page by the scroll bar's width.
    Modal: {
      defaultProps: {
        closeButtonProps: { 'aria-label': t('Close') },
        centered: true,
        radius: 'lg',
        overlayProps: { backgroundOpacity: 0.4 },
        // No JS transition, so that input right after opening goes to the dialog; CSS animates it (tokens.css).
        transitionProps: { duration: 0 },
      },
      classNames: { content: 'appearing', overlay: 'appearing' },
    },
    Popover: { defaultProps: { transitionProps: { duration: 0 } }, classNames: { dropdown: 'appearing' } },
    Drawer: { defaultProps: { closeButtonProps: { 'aria-label': t('Close') }, transitionProps: { duration: 150 } } },
    // A header outside of a section is the banner of the page, which has one (landmark-unique).
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
    Menu: {
      defaultProps: {
        shadow: 'md',
        transitionProps: { duration: 80 },
        position: 'bottom-start',
        // A menu may contain items only (aria-required-children).
        withInitialFocusPlaceholder: false,
      },
    },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 200, transitionProps: { duration: 80 } } },
    Button: { defaultProps: { size: 'sm' } },
    // A heading for its fields, without a frame.
    Fieldset: { defaultProps: { variant: 'unstyled' }, styles: { legend: { marginBottom: 0, fontWeight: 550 } } },
    Text: { defaultProps: { inherit: true } },
    Badge: { defaultProps: { component: 'span', variant: 'light', color: 'neutral', size: 'lg' } },
    // Alerts interrupt screen readers: only errors have the alert role.
    Alert: { defaultProps: { role: 'note', color: 'note' } },
    Notifications: { defaultProps: { limit: 3, autoClose: 6000, containerWidth: '26rem' } },
    Checkbox: { defaultProps: { radius: 'xs' } },
    // A list may contain options only (aria-required-children).
    ComboboxEmpty: { defaultProps: { role: 'option', 'aria-disabled': true } },
    Select: { defaultProps: { allowDeselect: false, checkIconPosition: 'right' } },
  },
});

/** Overrides Mantine colors below 4.5:1 contrast (WCAG 2.2 AA) on page, card and tint. */
export const variables: CSSVariablesResolver = () => {
  const colors = {
    // A primary button without a variant uses these.
    '--mantine-primary-color-filled': 'var(--accent)',
    '--mantine-primary-color-filled-hover': 'var(--accent-strong)',
    '--mantine-color-text': 'var(--text)',
    '--mantine-color-body': 'var(--card)',
    '--mantine-color-bright': 'var(--text)',
    '--mantine-color-dimmed': 'var(--soft)',
    '--mantine-color-placeholder': 'var(--soft)',
    '--mantine-color-error': 'var(--bad)',
    '--mantine-color-success': 'var(--good)',
    '--mantine-color-anchor': 'var(--accent-text)',
    '--mantine-color-default': 'var(--card)',
    '--mantine-color-default-hover': 'var(--tint)',
    '--mantine-color-default-color': 'var(--text)',
    '--mantine-color-default-border': 'var(--edge-soft)',
    '--mantine-color-disabled': 'var(--tint)',
    '--mantine-color-disabled-color': 'var(--soft)',
    '--mantine-color-disabled-border': 'var(--line)',
  };
  return { variables: {}, light: colors, dark: colors };
};

const cookie = 'lk-color-scheme';
let forget: (() => void) | undefined;

/** Stores the theme in a cookie, for server rendering, and syncs it across tabs. */
export const colorSchemeManager: MantineColorSchemeManager = {
  get: (standard) =>
    (/(?:^|;\s*)lk-color-scheme=(light|dark)/.exec(document.cookie)?.[1] as MantineColorScheme) ?? standard,
  set(value) {
    const age = value === 'auto' ? 0 : 31_536_000;
    document.cookie = `${cookie}=${value}; Path=/admin; Max-Age=${age}; SameSite=Lax`;
    new BroadcastChannel(cookie).postMessage(value);
  },
  subscribe(onUpdate) {
    const channel = new BroadcastChannel(cookie);
    channel.onmessage = ({ data }) => onUpdate(data as MantineColorScheme);
    forget = () => channel.close();
  },
  unsubscribe: () => forget?.(),
  clear: () => colorSchemeManager.set('auto'),
};
