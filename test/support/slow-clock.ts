// Preloaded into a program under test: sets its clock back by an hour.

const { now } = Date;
Date.now = () => now() - 3_600_000;
