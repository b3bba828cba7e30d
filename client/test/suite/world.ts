// The wallets of the suite. service-on-chain.ts makes their delegations.

export const ADA = '0xadAbCDeFaDAbcDefaDAbcdeFaDabcDeFADABcdeF';
export const BEN = '0xBEABcDEfbEAbcDefBEabCdEFbeAbcdEfbeAbcDEF';
export const CLEO = '0xC1abcDeFc1AbCDEfC1AbcdEFC1abCDEFc1aBCDEF';
export const DAN = '0xdaabcdefdAAbCDefdAAbCDefDaABCdEFdAabcdEF';
export const ELLA = '0xE1AbcDEFE1AbCDEFe1aBCDeFe1aBcDEfe1abCdef';
export const FINN = '0xF1AbcDEfF1abcdEff1AbCDEff1AbcDEff1aBcDeF';
/** Has revoked what it granted. */
export const GUS = '0x90ABCdef90AbcdEF90abcdef90aBCdeF90AbCDEf';
/** May act for all of them. */
export const HOT = '0x07abCdEf07abCdeF07abCdEf07abcdEf07aBCDef';
/** May vote for Ada. */
export const AGENT = '0xA9aBCdEFa9aBCDEfA9AbCDeFA9ABcDefA9abCDeF';
/** Grants while the suite runs. */
export const LATE = '0x1AaBCDEf1AaBCDef1aABCdEf1aabcdEf1aABcDef';

export const COLLECTION = '0x7171717171717171717171717171717171717171';
export const CARDS = '0x7272727272727272727272727272727272727272';
export const COIN = '0x7373737373737373737373737373737373737373';

export const MAX = 2n ** 256n - 1n;
/** Of cards that Ella delegates. A float rounds it to 2^255. */
export const CARD_AMOUNT = 2n ** 255n + 1n;

/** A chain that is served, and whose provider does not respond. */
export const DEAD_CHAIN = 10;
