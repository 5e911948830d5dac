internal import ReachCore
